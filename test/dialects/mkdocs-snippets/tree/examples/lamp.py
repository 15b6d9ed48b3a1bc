import lamp

# --8<-- [start:light]
def light():
    return lamp.on()
# --8<-- [end:light]
